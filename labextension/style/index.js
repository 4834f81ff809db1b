import './base.css';
import './lab.css';
import './chat.css';
